// Colours dpm programs of the documentation site, and says of those that are refused or warned of by which code.
hljs.registerLanguage("dpm", () => ({
    name: "dpm",
    keywords: {
        $pattern: /[A-Za-z_][A-Za-z0-9_]*/,
        keyword: "use budget private public param let observe release output expect fn model return each when of else if then by using assuming convergence from spend in and or not category",
        literal: "true false",
        type: "bool int real date text vector matrix simplex ordered counts",
    },
    contains: [
        { className: "comment", begin: /(#|\/\/)/, end: /$/ },
        { className: "string", begin: /"/, end: /"/ },
        { className: "number", begin: /\b[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?%?/ },
        { className: "title", begin: /\b[A-Za-z_][A-Za-z0-9_]*(?=\()/ },
    ],
}));
for (const block of document.querySelectorAll("code.language-dpm")) {
    const code = [...block.classList].find((name) => /^[EW]\d{4}/.test(name));
    const text = block.textContent;
    block.innerHTML = hljs.highlight("dpm", text, true).value;
    block.classList.add("hljs");
    if (code) {
        const label = document.createElement("p");
        label.className = "dpm-code";
        label.textContent = (code.startsWith("E") ? "Refused, " : "With a warning, ") + code + ":";
        block.closest("pre").before(label);
    }
}
