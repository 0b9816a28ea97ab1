/**
 * The company's bulletin: a file that everyone can read and no one corrects. It stands for any external service without
 * idempotency keys: what is published twice is there twice.
 */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Entry {
  /** `state.idempotencyKey` of the call that published it. */
  readonly key: string;
  readonly title: string;
  readonly summary: string;
  /** A signature that requires the bulletin's key; absent without a key. */
  readonly signature?: string;
}

const FOLDER =
  process.env.EVERTHREAD_DEMO_FOLDER || fileURLToPath(new URL('../../.everthread/demo', import.meta.url));
const FILE = join(FOLDER, 'published.md');

/** One line for each entry, so that a single append publishes it completely or not at all. */
export async function appendEntry({ key, title, summary, signature }: Entry): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const signed = signature ? `, signed ${signature}` : '';
  await appendFile(FILE, `- **${toLine(title)}** ${toLine(summary)} (entry ${key}${signed})\n`);
}

/** Oldest first; empty while nothing has been published. */
export async function readEntries(): Promise<Entry[]> {
  const text = await readFile(FILE, 'utf8').catch(() => '');
  return [...text.matchAll(/^- \*\*(.+?)\*\* (.*) \(entry ([^\s,)]+)(?:, signed (\w+))?\)$/gm)].map(
    ([, title = '', summary = '', key = '', signature]) => ({ key, title, summary, signature }),
  );
}

function toLine(text: string): string {
  return text.replaceAll('**', '').replace(/\s+/g, ' ').trim();
}
