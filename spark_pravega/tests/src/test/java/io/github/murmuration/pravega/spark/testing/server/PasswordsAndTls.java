// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing.server;

import io.pravega.shared.security.auth.Credentials;
import io.pravega.shared.security.auth.DefaultCredentials;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * A server that asks for passwords and speaks TLS alone, with a certificate of its own making.
 *
 * @param user who may do everything in one scope, and nothing elsewhere
 */
public record PasswordsAndTls(String user, String password, String scope) implements ServerSecurity {
    private static final String ADMIN = "admin";
    private static final String ADMIN_PASSWORD = "password-of-the-admin";
    private static final String KEY_STORE = "server.p12";
    private static final String KEY_STORE_PASSWORD = "keystore-password";
    private static final String CERTIFICATE = "server.crt";

    /** What the user sends. */
    public String token() {
        return token(user, password);
    }

    /** Who makes the scope. */
    public static Credentials admin() {
        return new DefaultCredentials(ADMIN_PASSWORD, ADMIN);
    }

    public static Path certificate(Path dir) {
        return dir.resolve(CERTIFICATE);
    }

    @Override
    public void write(Path dir) throws IOException, InterruptedException {
        Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-alias", "server", "-keyalg", "RSA", "-keysize", "2048", "-validity", "2",
                "-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1", "-storetype", "PKCS12",
                "-keystore", dir.resolve(KEY_STORE).toString(), "-storepass", KEY_STORE_PASSWORD)
                .redirectErrorStream(true).redirectOutput(dir.resolve("keytool.log").toFile()).start();
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException("keytool failed, see " + dir);
        }
        Files.writeString(dir.resolve("server.p12.password"), KEY_STORE_PASSWORD);
        try {
            KeyStore keys = KeyStore.getInstance(dir.resolve(KEY_STORE).toFile(), KEY_STORE_PASSWORD.toCharArray());
            writePem(dir.resolve("server.key"), "PRIVATE KEY",
                    keys.getKey("server", KEY_STORE_PASSWORD.toCharArray()).getEncoded());
            writePem(certificate(dir), "CERTIFICATE", keys.getCertificate("server").getEncoded());
            Files.write(dir.resolve("accounts"), List.of(
                    account(ADMIN, ADMIN_PASSWORD, "prn::*,READ_UPDATE"),
                    account(user, password, "prn::/scope:" + scope + ",READ_UPDATE;"
                            + "prn::/scope:" + scope + "/*,READ_UPDATE")));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public String scheme() {
        return "tls://";
    }

    @Override
    public String controllerSettings(Path dir) {
        return """
                controller.security.auth.enable=true
                controller.security.pwdAuthHandler.accountsDb.location=%1$s/accounts
                controller.security.auth.delegationToken.signingKey.basis=signing-key
                controller.security.tls.enable=true
                controller.security.tls.server.certificate.location=%1$s/server.crt
                controller.security.tls.server.privateKey.location=%1$s/server.key
                controller.security.tls.trustStore.location=%1$s/server.crt
                controller.security.tls.server.keyStore.location=%1$s/server.p12
                controller.security.tls.server.keyStore.pwd.location=%1$s/server.p12.password
                controller.segmentstore.connect.channel.tls=true
                """.formatted(dir);
    }

    @Override
    public String segmentStoreSettings(Path dir) {
        return """
                pravegaservice.security.tls.enable=true
                pravegaservice.security.tls.server.certificate.location=%1$s/server.crt
                pravegaservice.security.tls.server.privateKey.location=%1$s/server.key
                pravegaservice.security.tls.server.keyStore.location=%1$s/server.p12
                pravegaservice.security.tls.server.keyStore.pwd.location=%1$s/server.p12.password
                autoScale.security.auth.token.signingKey.basis=signing-key
                autoScale.controller.connect.security.auth.enable=true
                autoScale.controller.connect.security.tls.enable=true
                autoScale.controller.connect.security.tls.truststore.location=%1$s/server.crt
                """.formatted(dir);
    }

    @Override
    public List<String> segmentStoreCredentials() {
        return List.of(
                "-Dpravega.client.auth.method=Basic", "-Dpravega.client.auth.token=" + token(ADMIN, ADMIN_PASSWORD));
    }

    /** A line of Pravega's file of accounts. */
    private static String account(String user, String password, String permissions) throws GeneralSecurityException {
        int iterations = 1000;
        byte[] salt = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);
        byte[] hash = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                .generateSecret(new PBEKeySpec(password.toCharArray(), salt, iterations, 512)).getEncoded();
        HexFormat hex = HexFormat.of();
        String fields = iterations + ":" + hex.formatHex(salt) + ":" + hex.formatHex(hash);
        return user + ":" + hex.formatHex(fields.getBytes(StandardCharsets.UTF_8)) + ":" + permissions;
    }

    private static void writePem(Path file, String kind, byte[] der) throws IOException {
        String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        Files.writeString(file, "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n");
    }

    private static String token(String user, String password) {
        return Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }
}
