/** The hooks around messages that code writes or changes (definitions §9). `message-hooks.ts` implements this port. */
import type { Message } from '../../core/message/message.ts';
import type { StoredMessageUpdates } from '../../store/message/message-record.ts';

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

export interface MessageHooks {
  /** Rejects with what a hook threw. */
  beforeCreate(message: DraftMessage): Promise<DraftMessage>;
  afterCreate(message: Message): Promise<void>;
  beforeUpdate(id: string, updates: StoredMessageUpdates): Promise<StoredMessageUpdates>;
  afterUpdate(message: Message): Promise<void>;
}

/** Used if there are no hooks, and for hooks themselves: what a hook writes does not run hooks. */
export const NO_HOOKS: MessageHooks = {
  beforeCreate: async (message) => message,
  afterCreate: async () => undefined,
  beforeUpdate: async (_id, updates) => updates,
  afterUpdate: async () => undefined,
};
