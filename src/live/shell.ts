/** The page before its script has run. All views share it; the script tells them apart by the address. */
export const pageShell = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Weft</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/report.css">
<link rel="stylesheet" href="/assets/page.css">
<script type="module" src="/assets/main.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<a class="brand" href="/"><svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><use href="/assets/icon.svg#mark"></use></svg>Weft</a>
<nav class="views" aria-label="Views"><a href="/">Runs</a><a href="/history">History</a></nav>
<p id="connection" role="status"></p>
</header>
<main id="main" tabindex="-1"><noscript>This page needs JavaScript.</noscript></main>
</body>
</html>
`;

/** For those without the token. It names nothing of what is behind it. */
export const refusalPage = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Weft: token needed</title>
</head>
<body>
<main>
<h1>Token needed</h1>
<p>Open the address that <code>weft serve</code> printed, including its token. If you followed a link from another page, reload this one.</p>
</main>
</body>
</html>
`;
