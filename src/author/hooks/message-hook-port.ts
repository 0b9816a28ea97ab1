/** The hooks around messages that code writes or changes (definitions §9). `message-hooks.ts` implements this port. */
import type { ChangedMessage, Message } from '../../core/message/message.ts';

export interface MessageHooks {
  /** For a message that is about to be stored. Rejects with what a hook threw. */
  beforeCreate(message: Message): Promise<Message>;
  afterCreate(message: Message): Promise<void>;
  beforeUpdate(id: string, updates: ChangedMessage): Promise<ChangedMessage>;
  afterUpdate(message: Message): Promise<void>;
}

/** Used if there are no hooks, and for hooks themselves: what a hook writes does not run hooks. */
export const NO_HOOKS: MessageHooks = {
  beforeCreate: async (message) => message,
  afterCreate: async () => undefined,
  beforeUpdate: async (_id, updates) => updates,
  afterUpdate: async () => undefined,
};
