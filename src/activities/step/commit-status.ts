/**
 * `commitStatus`: the end of an execution, or of the thread (runtime §6, §10), with what a child tells its parent of it.
 * E1. The report is stored with the end that it tells of, in one transaction; `reportToParent` delivers it.
 * E2. A project without subagents pays no read.
 * E3. A thread comes to rest also where the project cannot be read: that may be why.
 */
import type { AgentDefinition, Registry } from '../../core/author/definition.ts';
import type { Message } from '../../core/message/message.ts';
import type { CommitStatusInput, CommitStatusOutcome } from '../../core/thread/step.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { cascade } from '../signals/cascade.ts';
import { composeReport, type LastWords, SESSION_REASONS, whatIsDue } from '../subagent/compose-report.ts';

export async function commitStatus(
  dependencies: ActivityDependencies,
  input: CommitStatusInput,
): Promise<CommitStatusOutcome> {
  const { store, probe } = dependencies;
  const run = fromRun(store, input);
  const report = await readReport(dependencies, input);
  const outcome = await store.threads.commitStatus({ ...input, ...run, ...(report ? { report } : {}) });
  await probe?.('status_committed');
  await cascade(store, input);
  return outcome;
}

async function readReport(
  { store, registry }: ActivityDependencies,
  input: CommitStatusInput,
): Promise<SubagentReport | undefined> {
  const due = whatIsDue(input);
  if (due === 'nothing') return undefined;
  const project = readProject(registry);
  if (project && !mayBeChild(project, input)) return undefined;
  if (!(await store.children.get(input.threadId))) return undefined;
  const thread = await store.threads.get(input.threadId);
  const agent = thread ? project?.agents.get(thread.agent) : undefined;
  const tools = due === 'session' ? sessionTools(agent, input.reason) : [];
  return composeReport(input, await readLastWords(store, input.threadId, tools));
}

/** E3: the project may be unreadable. */
function readProject(registry: ActivityDependencies['registry']): Registry | undefined {
  try {
    return registry();
  } catch {
    return undefined;
  }
}

/** E2. An agent that is not defined any more may have been a subagent. */
function mayBeChild({ agents }: Registry, { agent }: CommitStatusInput): boolean {
  return (
    agent === undefined || !agents.has(agent) || [...agents.values()].some(({ type }) => type === 'dual_ai')
  );
}

/** Session tools of both sides: the input tells which side acts next, not which one acted. */
function sessionTools(agent: AgentDefinition | undefined, reason: string | undefined): string[] {
  const which = SESSION_REASONS[reason as keyof typeof SESSION_REASONS];
  return [agent?.sideA, agent?.sideB].flatMap((side) => side?.[which]?.name ?? []);
}

/** Enough for the last step; the other page for one of very many calls. */
const PAGES = [50, 1000];

async function readLastWords(
  store: ThreadStore,
  threadId: string,
  tools: readonly string[],
): Promise<LastWords> {
  let messages: readonly Message[] = [];
  for (const limit of PAGES) {
    const page = await store.messages.list(threadId, { limit, order: 'desc', includeSilent: true });
    messages = page.messages;
    const found = tools.length > 0 ? findSession(messages, tools) : findAnswer(messages);
    if (found !== undefined || !page.hasMore) break;
  }
  const session = findSession(messages, tools);
  return {
    answer: findAnswer(messages)?.content ?? '',
    ...(session && {
      session: {
        content: session.content ?? '',
        attachments: (session.attachments ?? []).map(({ path }) => path),
      },
    }),
  };
}

/** Newest first. */
function findSession(messages: readonly Message[], tools: readonly string[]): Message | undefined {
  return messages.find(
    ({ role, name, tool_status: status }) =>
      role === 'tool' && status === 'success' && name !== null && tools.includes(name),
  );
}

/** A side's own words; what the parent said is none. */
function findAnswer(messages: readonly Message[]): Message | undefined {
  return messages.find(
    ({ role, content, status, silent, metadata }) =>
      (role === 'assistant' || role === 'user') &&
      status === 'completed' &&
      !silent &&
      metadata.parent_thread_id === undefined &&
      metadata.queuedTool !== true &&
      content !== null &&
      content.trim() !== '',
  );
}
