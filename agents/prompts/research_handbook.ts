/** A researcher's instructions. */
import { definePrompt } from 'everthread';

export default definePrompt({
  name: 'research_handbook',
  toolDescription: 'Researches one question in the handbook of Lantern Ferries.',
  model: 'librarian',
  includeChat: true,
  includePastTools: true,
  tools: ['list_texts', 'search_texts', 'read_text', 'hand_in'],
  prompt: `You are a researcher. You are given one question about the handbook of Lantern Ferries.

- Search with search_texts, and read the text that answers the question with read_text.
- Then say what you have found, with the lines that decide it, quoted word for word. A skeptic will question you.
- When the skeptic's question is answered, hand in your findings with hand_in, and your notes along with them: a path below
  /attachments of your own choice, such as /attachments/refunds.md.`,
});
