/**
 * Generated ids of threads and tasks: `<agent>-<80 bits>`. They show the agent in lists, logs and addresses, and cannot
 * be guessed. Ids are opaque and never parsed: senders may choose their own, and a handoff changes the agent.
 */

/** Number of random bytes in an id. */
export const ID_BYTES = 10;
const AGENT_CHARS = 40;
/** Crockford's Base32: none of its 32 characters can be mistaken for another. */
const CHARACTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const MADE = /-[0-9a-hjkmnp-tv-z]{16}$/;

export function makeThreadId(agent: string, random: Uint8Array): string {
  const name = agent.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, AGENT_CHARS);
  // An id begins with a letter or a digit.
  return `${name.replace(/^[-_]+|[-_]+$/g, '') || 'agent'}-${toText(random)}`;
}

/** Makes an id from hexadecimal digits that are derived from the work, so a repeated attempt makes the same id. */
export function deriveThreadId(agent: string, hex: string): string {
  const pairs = hex.slice(0, 2 * ID_BYTES).match(/../g) ?? [];
  return makeThreadId(
    agent,
    Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)),
  );
}

/** True if `id` ends like a generated id, which a prefix of a generated id does not. */
export function isMadeId(id: string): boolean {
  return MADE.test(id);
}

function toText(random: Uint8Array): string {
  let bits = 0n;
  for (const byte of random.subarray(0, ID_BYTES)) bits = bits * 256n + BigInt(byte);
  let text = '';
  for (let at = 0; at < (ID_BYTES * 8) / 5; at++) {
    text = CHARACTERS[Number(bits % 32n)] + text;
    bits /= 32n;
  }
  return text;
}
