import { defineModel } from 'everthread';
import { openaiCompatible } from 'everthread/models';

export default defineModel({ name: 'main', provider: openaiCompatible(), model: 'gpt-5-mini' });
