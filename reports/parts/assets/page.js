// The choice of colors, and suggestions of the search. Pages work without this script.
const THEMES = { system: "System colors", light: "Light", dark: "Dark" };
const root = document.documentElement;

function setTheme(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

const kept = localStorage.getItem("theme");
setTheme(kept in THEMES ? kept : "system");

addEventListener("DOMContentLoaded", () => {
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", "Colors");
  for (const [theme, name] of Object.entries(THEMES)) choice.add(new Option(name, theme));
  choice.value = root.dataset.theme ?? "system";
  choice.addEventListener("change", () => {
    localStorage.setItem("theme", choice.value);
    setTheme(choice.value);
  });
  document.querySelector("header.top").append(choice);
  const form = document.querySelector("form.search");
  if (form !== null) suggest(form);
});

const MOST_SUGGESTED = 8;
const PAUSE_MILLIS = 120;

/** Shows names that match under the field of the search. `/` leads to the field, arrows to the names, Escape back. */
function suggest(form) {
  const field = form.elements.q;
  const list = document.createElement("ul");
  let asked = 0;
  let timer;
  const hide = () => list.remove();

  async function show() {
    const mine = (asked += 1);
    if (field.value.trim() === "") return hide();
    const answer = await fetch(`/api/v1/search?${new URLSearchParams({ q: field.value, limit: MOST_SUGGESTED })}`);
    if (!answer.ok || mine !== asked) return;
    const { items } = await answer.json();
    list.replaceChildren(...items.map(itemOf));
    if (items.length === 0) hide();
    else form.append(list);
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void show(), PAUSE_MILLIS);
  });
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) hide();
  });
  form.addEventListener("keydown", (event) => {
    const stops = [field, ...list.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Escape: 0 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    stops.at(Math.min(to, stops.length - 1)).focus();
    if (event.key === "Escape") hide();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName))
      return;
    event.preventDefault();
    field.focus();
  });
}

function itemOf({ kind, name, beside, to }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = to;
  const [title, place] = [document.createElement("bdi"), document.createElement("span")];
  title.textContent = name;
  place.textContent = `${kind}${beside === "" ? "" : ` · ${beside}`}`;
  place.className = "quiet";
  link.append(title, place);
  item.append(link);
  return item;
}
