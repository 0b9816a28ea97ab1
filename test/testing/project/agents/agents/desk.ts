import { defineAgent } from 'everthread';

export default defineAgent({ name: 'desk', sideA: { prompt: 'answer' } });
