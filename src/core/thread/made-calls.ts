/** Calls and results of the conversation that a thread begins with: they are stored as they are, and nothing is run. */
import type { ToolCall, ToolStatus } from '../message/message.ts';

export interface MadeCalls {
  /** Calls of an assistant's message. */
  readonly toolCalls?: readonly ToolCall[];
  /** The call that a message of the role `tool` answers, and its outcome. */
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly toolStatus?: ToolStatus;
}
