/**
 * The files that a queued message names (definitions §15.4): paths become references as the message is stored, in the same
 * transaction, so that they tell of the files as they are then. What is not there is no reason to lose the message: it says
 * which files it lacks.
 */
import { toAttachmentRef } from '../../../core/file/attachment.ts';
import { tryFilePath } from '../../../core/file/file-path.ts';
import type { AttachmentRef } from '../../../core/message/message.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { FILE_COLUMNS, type FileRow, toFileRecord } from '../file/file-row.ts';

export interface ResolvedAttachments {
  readonly attachments?: readonly AttachmentRef[];
  /** Merged into the message's own. */
  readonly metadata: { readonly missingAttachments?: readonly string[] };
}

/** Resolves the attachments of the message with this id. References are made by the project's code, which has looked them up. */
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
    // Made from the message's id: one of its own for each file of it.
    if (file) return [toAttachmentRef(`${id}:${index}`, toFileRecord(file))];
    missing.push(each);
    return [];
  });
  if (missing.length === 0) return { attachments, metadata: {} };
  thread.emit('attachment.missing', { messageId: id, paths: missing });
  return { attachments, metadata: { missingAttachments: missing } };
}

async function findFiles(
  { trx, threadId }: ThreadTransaction,
  given: readonly (string | AttachmentRef)[],
): Promise<ReadonlyMap<string, FileRow>> {
  const paths = given.flatMap((each) => (typeof each === 'string' ? (tryFilePath(each) ?? []) : []));
  if (paths.length === 0) return new Map();
  const rows = await trx
    .selectFrom('thread_files')
    .select(FILE_COLUMNS)
    .where('thread_id', '=', threadId)
    .where('kind', '=', 'file')
    .where('path', 'in', paths)
    .execute();
  return new Map(rows.map((row) => [row.path, row]));
}
