/**
 * A handoff (definitions §12.7): a call that names an `ai_human` agent gives it the thread, once the step is over. The call
 * itself does nothing but say so; the store keeps who is next, and what the agent is told first, along with the result.
 * H1. The arguments are those of the agent's side A, and are in its scratch: its prompt may show them.
 */
import { hasTwoSides } from '../../core/active-side.ts';
import type { AgentDefinition, Registry } from '../../core/definition.ts';
import type { MessageItem } from '../../core/item.ts';
import type { ToolResult } from '../../core/message.ts';
import { createIds } from '../../state/id.ts';
import type { Scratch } from '../../state/scratch.ts';
import type { BegunTool, CommitTool } from '../../store/port/tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { refuseUnlisted } from './listed-call.ts';
import { checkPromptArguments, findEntry, readFirstMessage } from './prompt-input.ts';

/** The agent that a call of this name hands over to; tools and prompts come first. */
export function findHandoff({ tools, prompts, agents }: Registry, name: string): AgentDefinition | undefined {
  const agent = agents.get(name);
  return agent?.type === 'ai_human' && !tools.has(name) && !prompts.has(name) ? agent : undefined;
}

export interface HandoffOutcome {
  readonly result: ToolResult;
  /** What is stored along with it. */
  readonly more?: Pick<CommitTool, 'nextAgent' | 'nextInput'>;
}

export interface HandoffCall
  extends Pick<Extract<BegunTool, { kind: 'run' }>, 'call' | 'thread' | 'side' | 'subprompt'> {
  readonly step: number;
  readonly index: number;
}

export async function handOver(
  { registry, store }: ActivityDependencies,
  { call, thread, side, subprompt, step, index }: HandoffCall,
  { agent, scratch }: { readonly agent: AgentDefinition; readonly scratch: Scratch },
): Promise<HandoffOutcome> {
  const entry = findEntry(registry(), { call, thread, side, subprompt });
  const refusal = refuseUnlisted(call, entry);
  if (refusal !== undefined) return refuse(refusal);
  if (hasTwoSides(registry().agents.get(thread.agent))) {
    return refuse(
      `"${agent.name}" cannot take this thread over: it belongs to the two AI sides of "${thread.agent}". Answer, or call an agent that gets a thread of its own.`,
    );
  }
  if (agent.name === thread.agent) return refuse(`"${agent.name}" has this thread already.`);
  const schema = registry().prompts.get(agent.sideA.prompt)?.requiredSchema;
  const args = checkPromptArguments(schema, call.arguments);
  if (!args.ok) return refuse(args.error);
  const nextId = createIds(store, `${thread.id}:${step}:${index}:first`);
  const message = await readFirstMessage({ store, threadId: thread.id, nextId }, entry, args.value);
  if (!message.ok) return refuse(message.error);
  // H1.
  Object.assign(scratch.flow.scratch, args.value);
  return {
    result: { status: 'success', result: `Handed over to ${agent.title ?? agent.name}.` },
    more: {
      nextAgent: agent.name,
      ...(message.value ? { nextInput: toItem(nextId(), message.value) } : {}),
    },
  };
}

function toItem(
  id: string,
  { content, attachments }: Pick<MessageItem, 'content' | 'attachments'>,
): MessageItem {
  return { kind: 'message', id, role: 'user', content, attachments };
}

function refuse(error: string): HandoffOutcome {
  return { result: { status: 'error', error } };
}
