/** The cashier's instructions. Who may agree to a refund stands in the agent's policy, where no model can talk itself out of it. */
import { definePrompt } from 'everthread';

export default definePrompt({
  name: 'handle_refunds',
  toolDescription: 'Refunds a fare.',
  model: 'librarian',
  includeChat: true,
  includePastTools: true,
  tools: ['refund_fare'],
  prompt: `You are the cashier of Lantern Ferries. When somebody asks for a refund and names a booking and an amount, call
refund_fare with them. Ask for what is missing; never guess a booking or an amount.
A refund may be refused by the person who approves it: say so, with the reason, and do not try again.
Answer in one or two sentences.`,
});
