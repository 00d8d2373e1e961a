// Everything goes to stderr: set-up runs before commands whose stdout is data.
const terminal = process.stderr.isTTY === true;
const colour = terminal && !process.env.NO_COLOR;
const paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

export function doing(text) {
  if (terminal) process.stderr.write(`\r\u001b[K  ${text} …`);
}

export function done(text, startedAt) {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`${paint(32, '✔')} ${text} ${paint(2, `(${seconds} s)`)}`);
}

export function failed(text) {
  say(`${paint(31, '✖')} ${text}`);
}

export function say(text) {
  process.stderr.write(`${terminal ? '\r\u001b[K' : ''}${text}\n`);
}
