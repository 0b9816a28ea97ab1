/**
 * Stores the whole text of a result of which only a part is shown.
 * - It is stored once: the same text of the same call keeps its file, whoever asks for it.
 * - A file that cannot be stored changes nothing else.
 */
import { hash } from 'node:crypto';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';

/** Returns the path of its file; undefined if it cannot be stored. */
export async function storeWhole(
  { files }: Pick<ThreadStore, 'files'>,
  threadId: string,
  toolCallId: string,
  text: string,
): Promise<string | undefined> {
  const content = new TextEncoder().encode(text);
  const digest = hash('sha256', content);
  const name = toolCallId.replaceAll(/[^\w.-]/g, '_').slice(0, 100);
  try {
    // A provider may use the id of a call again.
    for (const path of [`/results/${name}.txt`, `/results/${name}-${digest.slice(0, 16)}.txt`]) {
      const found = await files.stat(threadId, path);
      if (found?.metadata?.digest === digest) return path;
      if (found) continue;
      await files.write(threadId, { path, content, mimeType: 'text/plain', metadata: { digest } });
      return path;
    }
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
  }
  return undefined;
}
