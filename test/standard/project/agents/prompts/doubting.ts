import { definePrompt } from '@standardagents/spec';

export default definePrompt({
  name: 'doubting',
  toolDescription: 'Doubts what a scout says.',
  prompt: 'You doubt.',
  model: 'house',
});
