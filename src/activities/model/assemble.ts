/**
 * What all requests of a step have in common (runtime §4): the rendered prompt and the messages, made once, through the hooks,
 * in the order of definitions §12.2. What depends on the model that is asked is `request.ts`.
 */
import { type ActiveSide, hasTwoSides } from '../../core/active-side.ts';
import { type ContextMessage, chooseMessages, pairResults } from '../../core/context.ts';
import { recentImages } from '../../core/context-attachment.ts';
import { toProviderMessage } from '../../core/context-provider.ts';
import { dropEmpty, repairToolSequences } from '../../core/context-repair.ts';
import { showToSide } from '../../core/context-side.ts';
import { isRuntimeError } from '../../core/error.ts';
import { fromLLMMessages, type LLMMessage, toLLMMessage } from '../../core/llm-message.ts';
import { renderPrompt } from '../../core/prompt-text.ts';
import type { ProviderMessage } from '../../core/provider.ts';
import { FIRST_WORD } from '../../core/subagent.ts';
import type { StepContext } from '../../store/port/step.ts';
import type { NewEvent, ThreadStore } from '../../store/port/thread-store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { readPictures } from './read-pictures.ts';

/** Where hooks come in (definitions §12.2). */
export interface AssemblyHooks {
  system(text: string): Promise<string>;
  messages(messages: readonly ContextMessage[]): Promise<readonly ContextMessage[]>;
  history(messages: readonly LLMMessage[]): Promise<readonly LLMMessage[]>;
}

export const NO_ASSEMBLY_HOOKS: AssemblyHooks = {
  system: async (text) => text,
  messages: async (messages) => messages,
  history: async (messages) => messages,
};

export interface AssemblyInput {
  readonly context: StepContext;
  readonly active: ActiveSide;
  /** What an `env` part of a prompt shows. */
  readonly env: (name: string) => string;
  readonly hooks: AssemblyHooks;
}

export interface AssembledStep {
  readonly threadId: string;
  readonly messages: readonly ProviderMessage[];
}

export async function assembleStep(
  { registry, store }: ActivityDependencies,
  { context, active, env, hooks }: AssemblyInput,
): Promise<AssembledStep> {
  const { thread, executionId, step, side, trimmed } = context;
  const { prompt } = active;
  // A request that cannot hold everything says so where people look.
  if (trimmed > 0)
    await tell(store, thread.id, { type: 'context.trimmed', data: { messages: trimmed }, step, once: true });
  const variables = promptVariables(context);
  const system = await hooks.system(renderPrompt({ prompt, prompts: registry().prompts, variables, env }));
  const { includeChat, includePastTools, recentImageThreshold, reasoning } = prompt;
  const included = chooseMessages(context.messages, { executionId, includeChat, includePastTools });
  const paired = pairResults(await hooks.messages(included)).filter(({ role }) => ROLES.has(role));
  const chosen = showToSide(paired, side);
  const pictures = await readPictures(store, thread.id, recentImages(chosen, recentImageThreshold));
  const reasoningOf = reasoning?.include ? prompt.name : undefined;
  const history: ProviderMessage[] = [
    ...(system.length > 0 ? [{ role: 'system' as const, content: system }] : []),
    ...chosen.map((message) => toProviderMessage(message, { pictures, reasoningOf })),
  ];
  const { messages, problems } = await filterHistory(hooks, dropEmpty(history));
  if (problems.length > 0) {
    const data = {
      id: null,
      hook: 'prefilter_llm_history' as const,
      error: problems.join(' ').slice(0, 1000),
    };
    await tell(store, thread.id, { type: 'hook.failed', data, step });
  }
  // After the hooks, so that none can bring a thread to where every provider refuses it.
  const sent = dropEmpty(repairToolSequences(messages));
  const opened = hasTwoSides(active.agent) ? openAsUser(sent) : sent;
  return { threadId: thread.id, messages: [...opened, ...standIn(sent, context.subprompt)] };
}

/** A call that hands no message to its prompt: some providers refuse a request without one, so its arguments are the message. */
function standIn(
  sent: readonly ProviderMessage[],
  subprompt: StepContext['subprompt'],
): readonly ProviderMessage[] {
  if (!subprompt || sent.some(({ role }) => role !== 'system')) return [];
  return [{ role: 'user', content: JSON.stringify(subprompt.arguments) }];
}

/** To one of two sides the first words may be its own, which some providers refuse: somebody has to speak before. */
function openAsUser(sent: readonly ProviderMessage[]): readonly ProviderMessage[] {
  const first = sent.findIndex(({ role }) => role !== 'system');
  if (sent[first]?.role !== 'assistant') return sent;
  return sent.toSpliced(first, 0, { role: 'user', content: FIRST_WORD });
}

/** A hook may make up messages of any kind. */
const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** What `{{key}}` may stand for: the scratch, overlaid by the arguments of the thread or of the sub-prompt's call. */
export function promptVariables({
  scratch,
  thread,
  subprompt,
}: Pick<StepContext, 'scratch' | 'thread' | 'subprompt'>): Readonly<Record<string, unknown>> {
  return { ...scratch, ...(subprompt?.arguments ?? thread.arguments) };
}

async function filterHistory(hooks: AssemblyHooks, history: readonly ProviderMessage[]) {
  if (hooks.history === NO_ASSEMBLY_HOOKS.history) return { messages: history, problems: [] };
  return fromLLMMessages(await hooks.history(history.map(toLLMMessage)), history);
}

/** A thread that ends meanwhile is told by the commands that follow. */
async function tell(store: ThreadStore, threadId: string, event: NewEvent): Promise<void> {
  await store.appendEvent(threadId, event).catch((error: unknown) => {
    if (!isRuntimeError(error, 'ThreadTerminated')) throw error;
  });
}
