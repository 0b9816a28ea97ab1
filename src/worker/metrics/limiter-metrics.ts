/** Metrics of the rate limiter: requests to models that are under way, those that wait, and how many may run at once. */
import { Gauge, type Registry as Metrics } from 'prom-client';
import type { ModelLoad, RateLimiter } from '../../models/rate-limiter.ts';

/** Lines of one model differ in their keys: their requests are added up, and the smallest limit is shown. */
export function measureLimiter(metrics: Metrics, limiter: RateLimiter): void {
  const gauge = (
    name: string,
    help: string,
    add: (known: number, load: ModelLoad) => number,
    first: number,
  ) =>
    new Gauge({
      name: `everthread_model_${name}`,
      help,
      labelNames: ['model'],
      registers: [metrics],
      collect() {
        this.reset();
        const models = new Map<string, number>();
        for (const load of limiter.list()) models.set(load.model, add(models.get(load.model) ?? first, load));
        for (const [model, value] of models) this.set({ model }, value);
      },
    });
  gauge('requests_running', 'Requests to models under way', (sum, { running }) => sum + running, 0);
  gauge('requests_waiting', 'Steps that wait for their model', (sum, { waiting }) => sum + waiting, 0);
  gauge(
    'concurrency_limit',
    'Requests to a model that may be under way at once; +Inf if nothing limits them',
    (least, { limit }) => Math.min(least, limit),
    Number.POSITIVE_INFINITY,
  );
}
