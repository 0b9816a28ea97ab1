import { defineAgent } from 'everthread';

export default defineAgent({
  name: 'desk',
  sideA: { prompt: 'answer', stopTool: 'find_order', maxSteps: 8 },
  variables: [{ name: 'SHOP_KEY', type: 'secret', required: true }],
  hooks: ['shorten', 'polite'],
});
