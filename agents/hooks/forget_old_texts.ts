/**
 * Texts that were read for an earlier question are long, and can be read again: later requests carry only one
 * line of them. The stored messages stay unchanged.
 */
import { defineHook } from 'everthread';

const KEPT_CHARACTERS = 400;

export default defineHook({
  id: 'forget_old_texts',
  hook: 'filter_messages',
  execute(state, messages) {
    const current = messages.findLastIndex(({ role }) => role === 'user');
    const isOld = (index: number) =>
      index < current &&
      messages[index]?.name === 'read_text' &&
      (messages[index]?.content?.length ?? 0) > KEPT_CHARACTERS;
    const old = messages.filter((_message, index) => isOld(index)).length;
    if (old === 0) return messages;
    state.emit('forgot', { texts: old });
    return messages.map((message, index) =>
      isOld(index)
        ? {
            ...message,
            content: '(A text that was read for an earlier question. Read it again if it matters.)',
          }
        : message,
    );
  },
});
