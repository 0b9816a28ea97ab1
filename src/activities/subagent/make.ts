/**
 * Makes a child (runtime §7.1, definitions §13.4): its place in the registry, its variables, files and first messages in one
 * transaction, then the parent's hooks. Its workflow is started by the parent's.
 * M1. Its id comes from the call that makes it: the same call again finds the same child.
 * M2. Hooks run before the child does. They run again where the worker was lost before its answer was heard.
 */
import type { MessageItem } from '../../core/item.ts';
import type { ToolResult } from '../../core/message.ts';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE, type Subagent } from '../../core/subagent.ts';
import type { SubagentOutcome } from '../../core/subagent-step.ts';
import { definesHook } from '../../state/hooks/listed.ts';
import { createIds } from '../../state/id.ts';
import type { ChildRecord, NewChild } from '../../store/port/family.ts';
import { hasChanges, queueTools, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { describeAgent } from '../model/subagent-tools.ts';
import { type ResumableCall, withFrame } from '../tool/resumable-call.ts';
import type { CallAnswer } from '../tool-gate/call-info.ts';
import { givenVariables, inheritsOf, missingVariables, requestVariables } from './env.ts';
import type { FirstTold } from './input.ts';

export type MadeChild =
  | Extract<SubagentOutcome, { kind: 'child' | 'terminated' }>
  | { readonly kind: 'refused'; readonly composed: CallAnswer };

export async function makeChild(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  subagent: Subagent,
  told: FirstTold,
): Promise<MadeChild> {
  const { store, probe } = dependencies;
  const { thread } = call.begun;
  const place = { step: call.key.step, index: call.key.index };
  const child = toNewChild(dependencies, call, subagent, told);
  const given = await withFrame(dependencies, call, (frame) => givenVariables(dependencies, frame, subagent));
  const { required, missing } = await missingVariables(dependencies, thread, child.agent, given);
  if (missing.length > 0) {
    const wanted = { child, given, required, missing };
    return { kind: 'refused', composed: await requestVariables(dependencies, thread.id, place, wanted) };
  }
  const waits = child.blocking;
  const created = await store.createChild({
    parentId: thread.id,
    child,
    call: place,
    waits,
    inherits: inheritsOf(dependencies, child.agent),
    given,
  });
  switch (created.kind) {
    case 'terminated':
      return created;
    case 'full':
      return refused({ status: 'error', error: describeFull(subagent, created.limit, created.living) });
    case 'refused':
      return refused({ status: 'error', error: `${SUBAGENT_CREATE}: ${created.reason}` });
    case 'created':
      await probe?.('subagent_created');
      await tellHooks(dependencies, call, created.start.threadId);
      return { kind: 'child', child: created.start, start: true, wait: waits };
  }
}

/** M2. */
export async function tellHooks(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  childId: string,
): Promise<void> {
  const { store, registry } = dependencies;
  if (!definesHook(registry(), 'after_subagent_created')) return;
  await withFrame(dependencies, call, async ({ hooks, sink, scratch, openNewChild }) => {
    if (!hooks.has('after_subagent_created')) return;
    const child = await store.getThread(childId);
    if (!child) return;
    const flow = watchFlow(hooks, scratch);
    await hooks.afterSubagentCreated(await openNewChild(child));
    await queueTools(store, call.key.threadId, sink)();
    const changes = await flow();
    if (hasChanges(changes)) await store.keepFlow({ ...call.key, ...changes });
  });
}

function toNewChild(
  { store }: ActivityDependencies,
  { key: { step, index }, begun: { thread } }: ResumableCall,
  { agent, resumable, blocking, explicit, hears, maxInstances }: Subagent,
  { name, arguments: args, content, attachments }: FirstTold,
): NewChild {
  // M1.
  const nextId = createIds(store, `${thread.id}:${step}:${index}:child`);
  const threadId = nextId();
  const first: MessageItem[] = [];
  const silentId = nextId();
  if (Object.keys(args).length > 0) {
    first.push({
      kind: 'message',
      id: silentId,
      role: 'system',
      content: JSON.stringify(args),
      silent: true,
      metadata: { subagentInitialArguments: true },
    });
  }
  first.push(toItem(nextId(), { hears, parentId: thread.id, content, attachments }));
  return {
    threadId,
    agent: agent.name,
    name,
    title: agent.title ?? null,
    description: describeAgent(agent),
    arguments: args,
    resumable,
    blocking,
    explicit,
    hears,
    ...(maxInstances === undefined ? {} : { maxInstances }),
    messages: first,
  };
}

interface Said {
  readonly hears: 'a' | 'b';
  readonly parentId: string;
  readonly content: string;
  readonly attachments: readonly string[];
}

/** A parent's word to its child, in the role that the side hears which answers it. */
export function toItem(id: string, { hears, parentId, content, attachments }: Said): MessageItem {
  return {
    kind: 'message',
    id,
    role: hears === 'a' ? 'user' : 'assistant',
    content,
    metadata: { parent_thread_id: parentId },
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

function refused(result: ToolResult): MadeChild {
  return { kind: 'refused', composed: { result } };
}

function describeFull({ agent }: Subagent, limit: number, living: readonly ChildRecord[]): string {
  const agents = limit === 1 ? 'one subagent' : `${limit} subagents`;
  return (
    `${SUBAGENT_CREATE}: there may be ${agents} "${agent.name}" at a time, and there ${limit === 1 ? 'is' : 'are'}: ` +
    `${describeLiving(living)}. Speak to ${limit === 1 ? 'it' : 'one of them'} with ${SUBAGENT_MESSAGE} instead.`
  );
}

const MOST_NAMED = 20;

/** References with names, for models. */
export function describeLiving(living: readonly ChildRecord[]): string {
  const more = living.length - MOST_NAMED;
  const named = living
    .slice(0, MOST_NAMED)
    .map(
      ({ threadId, agent, name, status }) => `${threadId} (${agent}${name ? ` "${name}"` : ''}, ${status})`,
    )
    .join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
