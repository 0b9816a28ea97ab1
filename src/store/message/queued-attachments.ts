/**
 * The files that a queued message names (definitions §15.4). Paths become references when the message is stored, in the
 * same transaction, so the references describe the files at that time. A missing file does not fail the message, which
 * lists the missing files.
 */
import { toAttachmentRef } from '../../core/file/attachment.ts';
import { tryFilePath } from '../../core/file/file-path.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import { FILE_COLUMNS, type FileRow, toFileRecord } from '../file/file-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

export interface ResolvedAttachments {
  readonly attachments?: readonly AttachmentRef[];
  /** Merged into the message's own metadata. */
  readonly metadata: { readonly missingAttachments?: readonly string[] };
}

/** Resolves the attachments of the message with this id. References are kept: the project's code has looked them up. */
export async function resolveAttachments(
  thread: ThreadTransaction,
  id: string,
  given: readonly (string | AttachmentRef)[] | null | undefined,
): Promise<ResolvedAttachments> {
  if (!given || given.length === 0) return { metadata: {} };
  const files = await findFiles(thread, given);
  const missing: string[] = [];
  const attachments = given.flatMap((each, index): AttachmentRef[] => {
    if (typeof each !== 'string') return [each];
    const file = files.get(tryFilePath(each) ?? '');
    // Derived from the message's id, so that each of its files has a different one.
    if (file) return [toAttachmentRef(`${id}:${index}`, toFileRecord(file))];
    missing.push(each);
    return [];
  });
  if (missing.length === 0) return { attachments, metadata: {} };
  thread.emit('attachment.missing', { messageId: id, paths: missing });
  return { attachments, metadata: { missingAttachments: missing } };
}

async function findFiles(
  thread: ThreadTransaction,
  given: readonly (string | AttachmentRef)[],
): Promise<ReadonlyMap<string, FileRow>> {
  const paths = given.flatMap((each) => (typeof each === 'string' ? (tryFilePath(each) ?? []) : []));
  if (paths.length === 0) return new Map();
  const rows = await thread
    .select('thread_files', { kind: 'file' })
    .select(FILE_COLUMNS)
    .where('path', 'in', paths)
    .execute();
  return new Map(rows.map((row) => [row.path, row]));
}
