/**
 * Composes what a child reports to its parent about the end of an execution (runtime §8.2, definitions §13.6, §22.22).
 * Pure.
 * - An idle end without a reason makes no report: nothing was done.
 * - A limit, a refusal or a fault is a failure. Its report has the reason, and the child's last output.
 *
 * The last output of a child is read from its history.
 * - A session's result is what the tool that ended it has stored. That tool was called in the last step, and is the
 *   session tool of the side whose step it was; for the other side it may be an ordinary tool.
 */
import type { AgentDefinition } from '../../core/author/definition.ts';
import type { Message } from '../../core/message/message.ts';
import type { RestStatus, StoredError } from '../../core/thread/step.ts';
import type { StopReason } from '../../core/thread/stop.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';
import type { ThreadStore } from '../../store/store.ts';

export interface ExecutionEnd {
  readonly status: RestStatus;
  readonly reason?: StopReason | string;
  readonly error?: StoredError;
}

/** The child's last output, as its history has it. */
export interface LastOutput {
  /** The result of the session tool that ended the session, as its binding made it. */
  readonly session?: { readonly content: string; readonly attachments: readonly string[] };
  /** The last text of its model; empty if there is none. */
  readonly answer: string;
}

/** The session tools, by the reason with which they end a session. */
export const SESSION_REASONS = { session_stop: 'sessionStop', session_fail: 'sessionFail' } as const;

export type ReportSource = 'nothing' | 'answer' | 'session';

/** What the report needs from the history, if there is to be one. */
export function findReportSource({ status, reason }: ExecutionEnd): ReportSource {
  if (status === 'stopped' || status === 'failed') return 'answer';
  if (status !== 'idle' || reason === undefined) return 'nothing';
  return reason in SESSION_REASONS ? 'session' : 'answer';
}

/** Undefined if nothing is reported. The end of the thread itself is reported by the store. */
export function composeReport(
  end: ExecutionEnd,
  { session, answer }: LastOutput,
): SubagentReport | undefined {
  const { status, reason, error } = end;
  switch (findReportSource(end)) {
    case 'nothing':
      return undefined;
    case 'session': {
      const { content, attachments } = session ?? { content: answer, attachments: [] };
      return { kind: reason === 'session_fail' ? 'failure' : 'result', content, attachments };
    }
    case 'answer':
      if (status === 'stopped') return { kind: 'stopped', content: reason ?? '', attachments: [] };
      if (status === 'failed') return failure(describeError(error), answer);
      if (isFailure(reason)) return failure(FAILURES[reason], answer);
      return { kind: 'result', content: answer, attachments: [] };
  }
}

/** Reasons that are no answer for the caller. */
const FAILURES = {
  max_session_turns: 'It reached the limit of turns of its session (max_session_turns).',
  max_side_steps: 'It reached the limit of steps of a side (max_side_steps).',
  max_total_steps: 'It reached the limit of steps of an execution (max_total_steps).',
  hook_blocked: 'A hook refused its request to the model (hook_blocked).',
  empty_response: 'Its model returned an empty answer (empty_response).',
} as const;

function isFailure(reason: string | undefined): reason is keyof typeof FAILURES {
  return reason !== undefined && Object.hasOwn(FAILURES, reason);
}

function failure(why: string, answer: string): SubagentReport {
  const lastOutput = answer === '' ? '' : `\n\nIts last output:\n${answer}`;
  return { kind: 'failure', content: why + lastOutput, attachments: [] };
}

function describeError(error: StoredError | undefined): string {
  return error ? `${error.message} (${error.code})` : 'No reason was given.';
}

interface EndedThread extends ExecutionEnd {
  readonly threadId: string;
}

export async function readLastOutput(
  store: ThreadStore,
  end: EndedThread,
  agent: AgentDefinition | undefined,
): Promise<LastOutput> {
  const session = findReportSource(end) === 'session' ? await readSession(store, end, agent) : undefined;
  return session ? { session, answer: '' } : { answer: await readAnswer(store, end.threadId) };
}

/** The ending side's tool. Undefined if the result of its call is gone, or the agent is unknown. */
async function readSession(
  store: ThreadStore,
  { threadId, reason }: EndedThread,
  agent: AgentDefinition | undefined,
): Promise<LastOutput['session']> {
  const last = await store.reports.readLastStep(threadId);
  const side = last?.side === 'b' ? agent?.sideB : agent?.sideA;
  const tool = side?.[SESSION_REASONS[reason as keyof typeof SESSION_REASONS]]?.name;
  const ended = last?.results.findLast(
    ({ name, tool_status: status }) => name === tool && status === 'success',
  );
  return (
    ended && { content: ended.content ?? '', attachments: (ended.attachments ?? []).map(({ path }) => path) }
  );
}

/** Page sizes: the first is enough for the last step, unless that step has very many calls. */
const PAGES = [50, 1000];

async function readAnswer(store: ThreadStore, threadId: string): Promise<string> {
  for (const limit of PAGES) {
    const page = await store.messages.list(threadId, { limit, order: 'desc', includeSilent: true });
    const found = page.messages.find(isAnswer);
    if (found || !page.hasMore) return found?.content ?? '';
  }
  return '';
}

/** True for a side's own words; messages of the parent do not count. */
function isAnswer({ role, content, status, silent, metadata }: Message): boolean {
  return (
    (role === 'assistant' || role === 'user') &&
    status === 'completed' &&
    !silent &&
    metadata.parent_thread_id === undefined &&
    metadata.queuedTool !== true &&
    content !== null &&
    content.trim() !== ''
  );
}
