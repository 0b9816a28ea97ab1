import { defineHook, type ThreadState } from 'everthread';

interface Customer {
  customer: string;
}

export default defineHook({
  hook: 'after_system_message',
  id: 'polite',
  execute: (state: ThreadState<Customer>, text) =>
    `${text}\nAddress the customer as ${state.arguments.customer}.`,
});
