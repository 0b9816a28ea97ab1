/**
 * Reads the last output of a child from its history (runtime §8.2), from which `composeReport` makes its report.
 * L1. A session's result is what the tool that ended it has stored. That tool was called in the last step, and is the
 *     session tool of the side whose step it was; for the other side it may be an ordinary tool.
 */
import type { AgentDefinition } from '../../core/author/definition.ts';
import type { Message } from '../../core/message/message.ts';
import type { ThreadStore } from '../../store/store.ts';
import { type ExecutionEnd, findReportSource, type LastOutput, SESSION_REASONS } from './compose-report.ts';

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

/** L1: the ending side's tool. Undefined if the result of its call is gone, or the agent is unknown. */
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
