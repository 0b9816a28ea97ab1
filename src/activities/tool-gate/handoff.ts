/**
 * The body of a handoff (definitions §12.7): a call that names an `ai_human` agent gives it the thread once the step is
 * over. The call itself only records that; the store keeps the next agent and its first message along with the result.
 * H1. The arguments are those of the agent's side A, and are put into its scratch: its prompt may show them.
 */
import type { AgentDefinition } from '../../core/author/definition.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import { go, type Verdict } from '../../state/gate.ts';
import type { CallAnswer } from './call-info.ts';
import type { PromptArguments, ReadMessage } from './prompt-input.ts';
import type { ToolFrame } from './tool-frame.ts';

interface HandoffCall extends ToolFrame, ReadMessage {
  readonly agent: AgentDefinition;
  readonly args: PromptArguments;
}

export function handOff(
  _ports: unknown,
  { agent, args, scratch, message, nextId }: HandoffCall,
): Verdict<CallAnswer, never> {
  // H1: the arguments are side A's.
  Object.assign(scratch.flow.scratch, args);
  const first: MessageItem | undefined = message && {
    kind: 'message',
    id: nextId(),
    role: 'user',
    ...message,
  };
  return go({
    result: { status: 'success', result: `Handed over to ${agent.title ?? agent.name}.` },
    handoff: { nextAgent: agent.name, ...(first ? { nextInput: first } : {}) },
  });
}
