/** Answers questions about the handbook in `agents/texts`, and publishes summaries when asked to. */
import { defineAgent } from 'everthread';

export default defineAgent({
  name: 'librarian',
  title: 'Librarian',
  description:
    'Knows the handbook of Lantern Ferries, quotes it by file and line, and publishes summaries of it.',
  // A question takes four or five steps; an execution of twenty is stuck.
  sideA: { prompt: 'consult_handbook', label: 'Librarian', maxSteps: 20 },
  hooks: ['date_line', 'forget_old_texts'],
});
