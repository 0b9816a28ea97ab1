/**
 * Who asks for a ThreadState, and where the work goes that it queues. A tool, a hook, an effect and an endpoint differ in
 * this alone.
 */
import type { PromptDefinition, ToolDefinition } from '../core/definition.ts';
import type { MessageItem } from '../core/item.ts';
import type { Message } from '../core/message.ts';
import type { SideSteps } from '../core/session.ts';
import type { FlowDirective, Side } from '../core/thread-execution.ts';
import type { ChildRecord } from '../store/port/family.ts';
import type { StoredMessageUpdates } from '../store/port/message.ts';
import type { SubpromptPlace } from '../store/port/step.ts';
import type { ThreadRecord } from '../store/port/thread.ts';
import type { QueuedTool } from '../store/port/tool.ts';
import type { StateParts } from './thread-state.ts';

export interface StateOrigin {
  readonly thread: ThreadRecord;
  /** The same for each attempt of the same work, and for no other: ids of what it makes come from it. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly work: WorkSink;
  /** Null at rest: in effects and endpoints. */
  readonly execution: ExecutionPlace | null;
  /** Whose `uses`, options and variables hold; absent outside a tool call. */
  readonly tool?: ToolDefinition;
  readonly idempotencyKey?: string;
  /** What the messages that it makes tell of it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly hooks: MessageHooks;
  /** Of the thread (`loadChildren`); none where absent. */
  readonly children?: readonly ChildRecord[];
  /** The hooks around messages of a relative that this code reaches; none where absent, as in hooks themselves. */
  readonly hooksOf?: HooksOf;
  /** The tool that has reached this thread through another one's state: its `uses` hold here too. */
  readonly caller?: ToolDefinition;
}

/** What a relative's state is made from, but for its record: see `toRelative`. */
export type HooksOf = (place: {
  readonly thread: ThreadRecord;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly work: WorkSink;
  readonly parts: StateParts;
}) => MessageHooks;

export interface ExecutionPlace {
  readonly executionId: string;
  readonly step: number;
  readonly stepCount: number;
  readonly sideSteps: SideSteps;
  /** Whose step it is. */
  readonly side: Side;
  /** The prompt of the step. */
  readonly prompt?: PromptDefinition;
  readonly subprompt: SubpromptPlace | null;
  readonly history: readonly Message[];
  readonly flow: Flow;
}

/** What code has asked of the flow, and left in the scratch, since the step or the call began. */
export interface Flow {
  directive: FlowDirective | undefined;
  /** `state.context`: one object for all code of this step or call. */
  readonly scratch: Record<string, unknown>;
}

/** Where queued work goes. */
export interface WorkSink {
  /** Resolves once it is stored. */
  queueMessage(item: MessageItem): Promise<void>;
  queueTool(tool: QueuedTool): void;
  terminate(): Promise<void>;
  /** An effect was scheduled: the next one of the thread is due in so many milliseconds. */
  wakeForEffects(inMs: number): Promise<void>;
  /** Something was put into the thread's queue by other means: its workflow is told to look. */
  wake(): Promise<void>;
  /** What the parent was told by `notifyParent`, as the records of this work show it. */
  noteTold(content: string): void;
  /** Where work for another thread of the family goes. */
  reach(threadId: string): WorkSink;
}

/** A message that is about to be stored, as far as hooks may change it. */
export type DraftMessage = Pick<
  Message,
  | 'id'
  | 'role'
  | 'content'
  | 'name'
  | 'tool_calls'
  | 'tool_call_id'
  | 'parent_id'
  | 'depth'
  | 'silent'
  | 'metadata'
  | 'attachments'
>;

/** The hooks around a message that code writes or changes (definitions §9). */
export interface MessageHooks {
  /** Rejects with what a hook threw. */
  beforeCreate(message: DraftMessage): Promise<DraftMessage>;
  afterCreate(message: Message): Promise<void>;
  beforeUpdate(id: string, updates: StoredMessageUpdates): Promise<StoredMessageUpdates>;
  afterUpdate(message: Message): Promise<void>;
}

/** Where an agent has none, and for hooks themselves: what a hook writes runs no hooks again. */
export const NO_HOOKS: MessageHooks = {
  beforeCreate: async (message) => message,
  afterCreate: async () => undefined,
  beforeUpdate: async (_id, updates) => updates,
  afterUpdate: async () => undefined,
};
