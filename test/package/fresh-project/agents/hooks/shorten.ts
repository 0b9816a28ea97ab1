import { defineHook, type Message } from 'everthread';

export default defineHook({
  hook: 'filter_messages',
  id: 'shorten',
  execute: (_state, messages: Message[]) => {
    const kept: Message[] = messages.slice(-20);
    return kept;
  },
});
