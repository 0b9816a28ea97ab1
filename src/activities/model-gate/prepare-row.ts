/** Passes a row that a step is about to drain through the hooks before a new message (definitions §9). */
import type { AttachmentRef } from '../../core/message/message.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { storeAttachments } from '../../state/attachments.ts';
import type { PendingMessage, PreparedRow } from '../../store/step/prepared-row-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { HookWork } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';

export async function prepareRow(
  { store }: ActivityDependencies,
  { hooks }: HookWork,
  { created_at: createdAt, status: _, tool_status: toolStatus, ...message }: PendingMessage,
  threadId: string,
): Promise<PreparedRow> {
  const queued = message.attachments ?? [];
  const files = await findFiles(store, threadId, message.id, queued);
  // The role of a call or a result stays: only an assistant can call.
  const written = message.tool_calls === null && message.role !== 'tool';
  const draft = { ...message, attachments: files.length > 0 ? files : null };
  const { id, role, content, silent, metadata, attachments } = await hooks.beforeRow(draft, {
    written,
    createdAt,
    toolStatus: toolStatus ?? undefined,
  });
  const changed = JSON.stringify(attachments) !== JSON.stringify(draft.attachments);
  return {
    id,
    content,
    silent,
    metadata,
    // The drain reports a missing file, unless the hook has chosen other files.
    ...(changed || (files.length > 0 && files.length === queued.length) ? { attachments } : {}),
    ...(written ? { role: role as PreparedRow['role'] } : {}),
  };
}

/** Hooks receive AttachmentRefs; a sender names paths. */
async function findFiles(
  store: ThreadStore,
  threadId: string,
  id: string,
  attachments: readonly (string | AttachmentRef)[],
): Promise<AttachmentRef[]> {
  const found: AttachmentRef[] = [];
  for (const [index, each] of attachments.entries()) {
    // The id that the file would have without hooks (store/message/queued-attachments.ts).
    const place = { store, threadId, nextId: () => `${id}:${index}` };
    if (typeof each !== 'string') found.push(each);
    else found.push(...(await storeAttachments(place, [each]).catch(ignoreRuntimeError)));
  }
  return found;
}

function ignoreRuntimeError(error: unknown): [] {
  if (isRuntimeError(error) && !isStoreFault(error)) return [];
  throw error;
}
