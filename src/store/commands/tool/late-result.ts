/** A result that comes when its call already has one: an event, never a second result (tool.ts, T2). */
import { toolContent } from '../../../core/message/message.ts';
import type { CommitTool } from '../../port/thread-store.ts';
import type { CallRow } from '../base/call-row.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';

/** Logs once for each attempt, which may report its late result twice. */
export async function reportLate(
  thread: ThreadTransaction,
  call: CallRow,
  { attempt, result }: CommitTool,
): Promise<void> {
  const reported = await thread.trx
    .selectFrom('events')
    .select('data')
    .where('thread_id', '=', thread.threadId)
    .where('type', '=', 'tool.late_result')
    .where('step', '=', call.step)
    .execute();
  if (reported.some(({ data }) => (JSON.parse(data) as { attempt: string }).attempt === attempt)) return;
  if (!result) return;
  const content = toolContent(result).slice(0, 2000);
  thread.emit(
    'tool.late_result',
    { name: call.name, callId: call.call_id, status: result.status, result: content, attempt },
    { step: call.step },
  );
}
