/**
 * What a child has left in its history for its parent (runtime §8.2): what `composeReport` is made of.
 * L1. A session's result is what the tool that ended it has stored. That is a call of the last step, of the session tool of the side
 *     whose step it was: a tool of that name may be an ordinary one of the other side.
 */
import type { AgentDefinition } from '../../core/author/definition.ts';
import type { Message } from '../../core/message/message.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { type ExecutionEnd, type LastWords, SESSION_REASONS, whatIsDue } from './compose-report.ts';

interface EndedThread extends ExecutionEnd {
  readonly threadId: string;
}

export async function readLastWords(
  store: ThreadStore,
  end: EndedThread,
  agent: AgentDefinition | undefined,
): Promise<LastWords> {
  const session = whatIsDue(end) === 'session' ? await readSession(store, end, agent) : undefined;
  return session ? { session, answer: '' } : { answer: await readAnswer(store, end.threadId) };
}

/** L1: the ending side's tool. Undefined where nothing is left of its call, or nobody knows the agent. */
async function readSession(
  store: ThreadStore,
  { threadId, reason }: EndedThread,
  agent: AgentDefinition | undefined,
): Promise<LastWords['session']> {
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

/** Enough for the last step; the other page for one of very many calls. */
const PAGES = [50, 1000];

async function readAnswer(store: ThreadStore, threadId: string): Promise<string> {
  for (const limit of PAGES) {
    const page = await store.messages.list(threadId, { limit, order: 'desc', includeSilent: true });
    const found = page.messages.find(isAnswer);
    if (found || !page.hasMore) return found?.content ?? '';
  }
  return '';
}

/** A side's own words; what the parent said is none. */
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
