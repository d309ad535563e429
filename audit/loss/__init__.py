"""What readers have lost that retention has overtaken."""
