/**
 * Ids that we make for threads and tasks: `<agent>-<80 bits>`, so that lists, logs and addresses say whose they are, and nobody guesses one.
 * Nothing is read out of an id: others are chosen by senders, and a handoff changes the agent.
 */

/** How many random bytes an id takes. */
export const ID_BYTES = 10;
const AGENT_CHARS = 40;
/** Crockford's: none of its 32 characters is taken for another. */
const CHARACTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const MADE = /-[0-9a-hjkmnp-tv-z]{16}$/;

export function makeThreadId(agent: string, random: Uint8Array): string {
  const name = agent.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, AGENT_CHARS);
  // An id begins with a letter or a digit.
  return `${name.replace(/^[-_]+|[-_]+$/g, '') || 'agent'}-${toText(random)}`;
}

/** From hexadecimal digits that follow from the work: a repeated attempt makes the same id. */
export function deriveThreadId(agent: string, hex: string): string {
  const pairs = hex.slice(0, 2 * ID_BYTES).match(/../g) ?? [];
  return makeThreadId(
    agent,
    Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)),
  );
}

/** Whether it ends as one that we have made: no beginning of one does. */
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
