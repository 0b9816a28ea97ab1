/**
 * What somebody has said of an action before, so far as it reaches this one. The scope of an approval is in its answer: `once` belongs to the
 * call that asked, and never reaches another; every other scope is for the same fingerprint.
 */
import type { Decision } from '../../../core/wait/answer.ts';
import type { EarlierDecision, FindDecision } from '../../port/action.ts';
import type { CommandContext } from '../base/context.ts';

const MOST = 200;

export async function findDecision(
  { db }: CommandContext,
  asked: FindDecision,
): Promise<EarlierDecision | null> {
  const rows = await db
    .selectFrom('waits')
    .innerJoin('threads', 'threads.id', 'waits.thread_id')
    .select(['waits.id', 'waits.thread_id', 'waits.execution_id', 'waits.answer', 'threads.user_id'])
    .where('waits.fingerprint', '=', asked.fingerprint)
    .where('waits.kind', '=', 'approval')
    .where('waits.state', '=', 'answered')
    .orderBy('waits.ended_at', 'desc')
    .limit(MOST)
    .execute();
  for (const row of rows) {
    const answer = JSON.parse(row.answer ?? '{}') as Decision;
    if (!reaches(row, answer, asked)) continue;
    const { approved, reason, by } = answer;
    return {
      approved,
      waitId: row.id,
      ...(reason === undefined ? {} : { reason }),
      ...(by === undefined ? {} : { by }),
    };
  }
  return null;
}

interface Answered {
  readonly thread_id: string;
  readonly execution_id: string | null;
  readonly user_id: string | null;
}

function reaches(row: Answered, { approved, scope = 'once' }: Decision, asked: FindDecision): boolean {
  const here = row.thread_id === asked.threadId;
  const now = here && row.execution_id !== null && row.execution_id === asked.executionId;
  // What was denied is not asked again in its execution.
  if (!approved) return now;
  switch (scope) {
    case 'once':
      return false;
    case 'execution':
      return now;
    case 'thread':
      return here;
    case 'always':
      return row.user_id === asked.userId;
  }
}
