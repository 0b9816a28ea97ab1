import { definePrompt } from '@standardagents/spec';

export default definePrompt({
  name: 'manners',
  toolDescription: 'How to speak.',
  prompt: 'Be brief. ',
  model: 'house',
});
