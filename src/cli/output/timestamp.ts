const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-11-07 09:30:12.045`, local time. */
export function timestamp(at: Date): string {
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  return `${day} ${time}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}
