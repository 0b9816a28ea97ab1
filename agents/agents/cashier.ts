/** Refunds passengers. It prepares everything by itself; money moves once a person has agreed. */
import { defineAgent } from 'everthread';

export default defineAgent({
  name: 'cashier',
  title: 'Cashier',
  description: 'Refunds fares of Lantern Ferries, each with the approval of a person.',
  sideA: { prompt: 'handle_refunds', label: 'Cashier', maxSteps: 10 },
  policy: { 'money.*': 'require_approval' },
});
