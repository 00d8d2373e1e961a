/** Student's t. Browsers load this as well: it imports nothing. */

/** Lanczos' approximation, good to 1e-13 here. */
function logGamma(x: number): number {
  const terms = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406,
    12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  const at = x - 1;
  const sum = terms.reduce((total, term, i) => total + term / (at + i + 1), 0.9999999999998099);
  const t = at + terms.length - 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (at + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The regularised incomplete beta function, by Lentz' continued fraction. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  // Converges fast on this side only.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const tiny = 1e-300;
  const held = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let [c, d, fraction] = [1, 1 / held(1 - ((a + b) * x) / (a + 1)), 0];
  fraction = d;
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    const before = fraction;
    for (const term of [even, odd]) {
      d = 1 / held(1 + term * d);
      c = held(1 + term / c);
      fraction *= c * d;
    }
    if (Math.abs(fraction / before - 1) < 1e-14) break;
  }
  const front = a * Math.log(x) + b * Math.log(1 - x) - Math.log(a);
  return Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + front) * fraction;
}

/** Probability of a value beyond ±`t`. */
export const studentTails = (t: number, degrees: number): number =>
  incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5);

/** The `t` beyond which, on both sides together, lies a share of `tails`. */
export function studentPoint(tails: number, degrees: number): number {
  let [low, high] = [0, 1];
  while (studentTails(high, degrees) > tails) high *= 2;
  for (let step = 0; step < 100 && high - low > 1e-12 * high; step++) {
    const middle = (low + high) / 2;
    if (studentTails(middle, degrees) > tails) low = middle;
    else high = middle;
  }
  return high;
}
