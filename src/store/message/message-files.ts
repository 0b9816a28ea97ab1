/**
 * Files that are deleted with a message (definitions §14.2): those under /attachments that no other message of the
 * thread names, stored or waiting. A file elsewhere belongs to the thread's own code, and stays.
 */
import { ATTACHMENT_FOLDER } from '../../core/file/attachment.ts';
import { parseFilePath } from '../../core/file/file-path.ts';
import { findEntry } from '../file/file-row.ts';
import { removeFile } from '../file/file-tree.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

/** JSON text of the attachments of messages and items: references, or paths. */
export type NamedFiles = string | null | undefined;

/** Must be called after the messages that named the files were removed. */
export async function removeUnnamedFiles(
  thread: ThreadTransaction,
  named: readonly NamedFiles[],
): Promise<void> {
  const paths = new Set(named.flatMap(pathsOf));
  if (paths.size === 0) return;
  for (const path of await readNamed(thread)) paths.delete(path);
  for (const path of paths) {
    const row = await findEntry(thread.trx, thread.threadId, path);
    if (row?.kind === 'file') await removeFile(thread, row);
  }
}

async function readNamed(thread: ThreadTransaction): Promise<string[]> {
  const messages = await thread
    .select('messages')
    .select('attachments')
    .where('attachments', 'is not', null)
    .execute();
  const items = await thread
    .select('items')
    .select('payload')
    .where('state', 'in', ['queued', 'staged'])
    .execute();
  return [
    ...messages.map(({ attachments }) => attachments),
    ...items.map(({ payload }) => filesOf(payload)),
  ].flatMap(pathsOf);
}

/** The attachments in an item's payload. */
export function filesOf(payload: string): NamedFiles {
  const { attachments } = JSON.parse(payload) as { attachments?: unknown };
  return attachments ? JSON.stringify(attachments) : null;
}

function pathsOf(attachments: NamedFiles): string[] {
  if (!attachments) return [];
  const given = JSON.parse(attachments) as readonly (string | { readonly path: string })[];
  return given.flatMap((each) => {
    const path = toPath(typeof each === 'string' ? each : each.path);
    return path?.startsWith(`${ATTACHMENT_FOLDER}/`) ? [path] : [];
  });
}

function toPath(given: string): string | undefined {
  try {
    return parseFilePath(given);
  } catch {
    return undefined;
  }
}
