/** The date below the prompt: models do not know it, and a prompt in a file cannot contain it. */
import { defineHook } from 'everthread';

export default defineHook({
  id: 'date_line',
  hook: 'after_system_message',
  execute(_state, system) {
    return `${system}\n\nToday is ${new Date().toISOString().slice(0, 10)}.`;
  },
});
