/** The reviewer's instructions: the second side of the coordinator's thread. */
import { definePrompt } from 'everthread';

export default definePrompt({
  name: 'review_brief',
  toolDescription: 'Reviews a brief.',
  model: 'librarian',
  includeChat: true,
  includePastTools: true,
  tools: ['request_changes', 'approve_brief'],
  prompt: `You review briefs on the handbook of Lantern Ferries before anybody acts on them. You see drafts, not the research.

- A draft must name, for each question, the line of the handbook that decides it, and who acts on it.
- When something is missing, ask for it with request_changes: one thing at a time, the most important first.
- When nothing is missing, approve it with approve_brief, and give the brief as it is to go out.`,
});
