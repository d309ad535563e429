// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.murmuration.pulsar.spark.PulsarException;
import io.github.murmuration.spark.common.client.Patience;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The broker's administration, asked by HTTP. One that is away is waited for. */
final class Administration {
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5)).build();
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int REFUSED = 300;
    /** Answers of a broker that is just starting, or whose bookie is. */
    private static final List<Integer> PASSING = List.of(500, 503);

    private final String url;

    Administration(String url) {
        this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }

    /**
     * @throws RefusedException if it is refused
     * @throws UnansweredException if there is no answer for a minute
     */
    JsonNode get(String path) {
        return Patience.until(UnansweredException.class, () -> {
            try {
                HttpResponse<String> answer =
                        HTTP.send(request(path).GET().build(), HttpResponse.BodyHandlers.ofString());
                if (PASSING.contains(answer.statusCode())) {
                    throw new UnansweredException("Pulsar cannot answer yet: " + told(path, answer), null);
                }
                if (answer.statusCode() >= REFUSED) {
                    throw new RefusedException(answer.statusCode(), told(path, answer));
                }
                return JSON.readTree(answer.body());
            } catch (JsonProcessingException wrong) {
                throw new PulsarException("no JSON from " + url + ": " + path, wrong);
            } catch (IOException failed) {
                throw new UnansweredException("Pulsar's administration does not answer at " + url, failed);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new PulsarException("interrupted while Pulsar was asked: " + path, interrupted);
            }
        });
    }

    /** Headers of what there is; nothing of what there is not, or what is not told. */
    CompletableFuture<Optional<HttpHeaders>> head(String path) {
        HttpRequest asked = request(path).method("HEAD", HttpRequest.BodyPublishers.noBody()).build();
        return HTTP.sendAsync(asked, HttpResponse.BodyHandlers.discarding())
                .thenApply(answer -> Optional.of(answer.headers()).filter(told -> answer.statusCode() < REFUSED))
                .exceptionally(failed -> Optional.empty());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + "/admin/v2/" + path)).timeout(ANSWER);
    }

    private String told(String path, HttpResponse<String> answer) {
        String text = answer.body().length() > 300 ? answer.body().substring(0, 300) : answer.body();
        return path + " at " + url + ": " + answer.statusCode() + " " + text;
    }
}
