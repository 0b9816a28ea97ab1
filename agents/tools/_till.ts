/** The till: a file with one line for each refund that was paid. What is paid twice is there twice. */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER =
  process.env.EVERTHREAD_DEMO_FOLDER || fileURLToPath(new URL('../../.everthread/demo', import.meta.url));
const FILE = join(FOLDER, 'refunds.md');

export interface Refund {
  readonly booking: string;
  readonly euros: number;
}

/** `key`: of the call that pays. */
export async function payRefund(key: string, { booking, euros }: Refund): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await appendFile(FILE, `- ${booking}: ${euros} euros (refund ${key})\n`);
}

/** The lines of the refunds that calls of this thread have paid, oldest first. */
export async function readRefunds(threadId: string): Promise<string[]> {
  const text = await readFile(FILE, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line.includes(`(refund ${threadId}:`));
}
