// What every page has: elements made without markup, the theme, the current section.
const byId = (id) => document.getElementById(id);

// An element with properties, attributes (names with a hyphen, and role) and children;
// strings become text and never markup.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function startTheme() {
  const key = "unimatch-theme";
  const themes = ["system", "light", "dark"];
  let theme = "system";
  try {
    theme = localStorage.getItem(key) || theme;
  } catch (error) {
    // A browser that keeps nothing follows the system.
  }
  if (!themes.includes(theme)) theme = "system";
  const button = byId("theme");
  const show = () => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try {
      localStorage.setItem(key, theme);
    } catch (error) {
      // Chosen for this visit alone.
    }
    show();
  });
  show();
}

function startSections() {
  const links = new Map();
  for (const link of document.querySelectorAll(".bar a[href^='#']")) {
    links.set(link.getAttribute("href").slice(1), link);
  }
  if (!("IntersectionObserver" in window)) return;
  const seen = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target.id);
        else seen.delete(entry.target.id);
      }
      let current = null;
      for (const [id, link] of links) {
        link.removeAttribute("aria-current");
        if (current === null && seen.has(id)) current = link;
      }
      if (current) current.setAttribute("aria-current", "true");
    },
    { rootMargin: "-20% 0px -60% 0px" },
  );
  for (const section of document.querySelectorAll("main > section")) observer.observe(section);
}

startTheme();
startSections();
