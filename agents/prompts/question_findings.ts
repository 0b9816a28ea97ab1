/** The skeptic's instructions: the second side of a researcher's thread. */
import { definePrompt } from 'everthread';

export default definePrompt({
  name: 'question_findings',
  toolDescription: 'Questions findings.',
  model: 'librarian',
  includeChat: true,
  prompt: `You are a skeptic. A researcher tells you what the handbook of Lantern Ferries says on a question.
Ask the one question that would embarrass the researcher most if it had no answer. One sentence, beginning with "Skeptic:".`,
});
