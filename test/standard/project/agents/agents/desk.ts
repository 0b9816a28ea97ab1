import { defineAgent } from '@standardagents/spec';

/** Talks to a person. Its prompt has the same name. */
export default defineAgent({
  name: 'desk',
  type: 'ai_human',
  title: 'Travel desk',
  description: 'Plans a trip.',
  icon: '/icons/desk.svg',
  sideA: { prompt: 'desk', label: 'Desk', stopOnResponse: true, maxSteps: 10 },
  hooks: ['note_calls'],
  packageName: '@example/travel',
  version: '1.2.0',
  author: 'Example',
  license: 'MIT',
});
