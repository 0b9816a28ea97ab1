/**
 * Answers a wait for variables: `{ value: { NAME: 'text', OTHER: { value, type? } } }` creates the child with them, in
 * the transaction of the answer. The answer keeps only the names: the values are the child's, encrypted.
 * V1. The same values again are a duplicate, as long as the child has them.
 * V2. If the variables are refused, the child is not created, and the parent gets a message as for a failed child.
 */
import { createHash } from 'node:crypto';
import type { EnvType } from '../../core/author/thread-env.ts';
import { variableProblem } from '../../core/project/env.ts';
import { roleTo } from '../../core/thread/session.ts';
import { formatReport } from '../../core/thread/subagent-report.ts';
import type { Decision, ValueAnswer } from '../../core/wait/answer.ts';
import { judgeAnswer } from '../../core/wait/wait.ts';
import { readEnv } from '../env/env.ts';
import { enqueue } from '../message/queue.ts';
import type { CommandContext } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { AnsweredWait, AnswerWait } from '../wait/wait-record.ts';
import { endWait, findWait, toWait, type WaitRow } from '../wait/wait-row.ts';
import type { GivenVariable } from './child-record.ts';
import { fulfilIn, refuseIn } from './variable-request.ts';

export async function answerVariables(
  context: CommandContext,
  parent: ThreadTransaction,
  row: WaitRow,
  command: AnswerWait,
  now: number,
): Promise<AnsweredWait> {
  const { answer } = command;
  const wait = toWait(row, now);
  const outcome = judgeAnswer(wait, command, now);
  if ('value' in answer) {
    // V1: the same values.
    if (outcome === 'already_answered' && (await isSame(context, parent, row.id, answer)))
      return { outcome: 'duplicate', wait };
    return outcome === 'taken'
      ? createFromAnswer(context, parent, row, answer, now)
      : toOutcome(outcome, wait);
  }
  if (outcome !== 'taken') return toOutcome(outcome, wait);
  if (answer.approved)
    return toMisfit('variables are provided as a "value", or refused with "approved": false');
  await refuse(parent, row, answer);
  const ended = await endWait(parent, row, { state: 'answered', answer });
  return { outcome, wait: toWait(ended, now) };
}

function toOutcome(outcome: ReturnType<typeof judgeAnswer>, wait: ReturnType<typeof toWait>): AnsweredWait {
  return outcome === 'unknown' ? { outcome } : { outcome, wait };
}

function toMisfit(reason: string): AnsweredWait {
  return { outcome: 'misfit', reason };
}

async function createFromAnswer(
  context: CommandContext,
  parent: ThreadTransaction,
  row: WaitRow,
  { value, by }: ValueAnswer,
  now: number,
): Promise<AnsweredWait> {
  const given = toGiven(value);
  if (typeof given === 'string') return toMisfit(given);
  const command = {
    parentId: parent.threadId,
    requestId: row.id,
    given,
    by,
  };
  const fulfilled = await fulfilIn(context, parent, command);
  switch (fulfilled.kind) {
    case 'missing':
      return toMisfit(`it does not provide ${fulfilled.names.join(', ')}; provide all of them at once`);
    case 'full':
      return toMisfit(`there are ${fulfilled.limit} living subagents of this kind, which is the limit`);
    case 'refused':
      return toMisfit(`the subagent cannot be created: ${fulfilled.reason}`);
    case 'created': {
      const ended = (await findWait(parent.trx, row.id)) ?? row;
      return { outcome: 'taken', wait: toWait(ended, now) };
    }
    default:
      return { outcome: 'closed', wait: toWait(row, now) };
  }
}

/** Returns a message if the value cannot be used; the message contains no value of a variable. */
function toGiven(value: unknown): GivenVariable[] | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return '"value" must be an object of variables by name';
  const given: GivenVariable[] = [];
  for (const [name, each] of Object.entries(value)) {
    const { value: text, type } = (typeof each === 'object' && each !== null ? each : { value: each }) as {
      readonly value: unknown;
      readonly type?: unknown;
    };
    const problem = variableProblem(name, text, type);
    if (problem !== undefined) return problem;
    given.push({ name, value: text as string, type: type === undefined ? undefined : (type as EnvType) });
  }
  return given;
}

async function isSame(
  context: CommandContext,
  { trx }: ThreadTransaction,
  requestId: string,
  { value }: ValueAnswer,
): Promise<boolean> {
  const request = await findRow(trx, 'variable_requests', { id: requestId }, ['child_id']);
  const given = toGiven(value);
  if (!request?.child_id || typeof given === 'string') return false;
  const stored = await readEnv({ ...context, db: trx }, request.child_id, null);
  const values = new Map(
    stored.filter(({ scope }) => scope === 'thread').map((each) => [each.name, each.value]),
  );
  return given.every(({ name, value: text }) => values.get(name) === text);
}

/** V2: queues the refusal as a message to the parent. */
async function refuse(parent: ThreadTransaction, row: WaitRow, { reason, by }: Decision): Promise<void> {
  const refused = await refuseIn(parent, row.id);
  if (!refused) return;
  const who = by === undefined ? 'were refused' : `were refused by ${by}`;
  const content = `The subagent was not created: the variables that it needs ${who}${reason === undefined ? '.' : `: ${reason}`}`;
  const { child, step } = refused;
  const asked = await parent.find('steps', { step }, ['side']);
  await enqueue(parent, {
    kind: 'message',
    id: createHash('sha256').update(`variables refused:${row.id}`).digest('hex').slice(0, 32),
    role: roleTo(asked?.side ?? 'a'),
    content: formatReport(child, { kind: 'failure', content, attachments: [] }),
    silent: true,
    metadata: { subagent_id: child.threadId },
  });
}
