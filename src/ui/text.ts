/** Numbers, times and texts in the form in which the page shows them. Times of the API are microseconds since 1970. */

const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
];

/** How long ago a time is: `3 min`; `now` for less than a second. */
export function age(micros: number, now = Date.now()): string {
  const seconds = Math.floor((now - micros / 1000) / 1000);
  const [name, size] = UNITS.find(([, each]) => seconds >= each) ?? [];
  return name === undefined ? 'now' : `${Math.floor(seconds / (size as number))} ${name}`;
}

/** `3 min ago`, or `now`. */
export function ago(micros: number): string {
  const passed = age(micros);
  return passed === 'now' ? passed : `${passed} ago`;
}

/** How long until a time: `in 4 min`; `overdue` if it has passed. */
export function until(micros: number, now = Date.now()): string {
  const left = age(2 * now * 1000 - micros, now);
  return micros / 1000 <= now ? 'overdue' : `in ${left === 'now' ? '1 s' : left}`;
}

export function clock(micros: number): string {
  const at = new Date(micros / 1000);
  const time = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  return at.toDateString() === new Date().toDateString()
    ? time
    : `${at.toLocaleDateString([], { month: 'short', day: 'numeric' })}, ${time}`;
}

export function duration(micros: number): string {
  const ms = Math.max(0, micros / 1000);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

/** `1.2k` for 1,234. */
export function count(n: number): string {
  if (n < 1000) return String(n);
  return n < 1_000_000 ? `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

/** US dollars; small amounts with as many digits as they need. */
export function money(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  return n < 1_048_576 ? `${(n / 1024).toFixed(1)} KB` : `${(n / 1_048_576).toFixed(1)} MB`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** One line of at most this many characters. */
export function shorten(text: string, most: number): string {
  const line = text
    .slice(0, most * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= most && text.length <= most * 2 ? line : `${line.slice(0, most - 1)}…`;
}

export function pretty(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

/** The JSON of a text, or the text itself. */
export function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
