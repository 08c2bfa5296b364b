// Pleasant with JavaScript, whole without it: a choice shows its view at once, and its button is not needed.
for (const form of document.querySelectorAll("form.view")) {
  form.addEventListener("change", () => form.requestSubmit());
  for (const button of form.querySelectorAll("button[data-plain]")) button.hidden = true;
}
