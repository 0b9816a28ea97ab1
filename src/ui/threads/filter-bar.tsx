/** The filters of the list of threads, with how many threads fit each. */
import type { FILTERS, Filters } from '../address.ts';
import { useLoad } from '../parts/loaded.tsx';
import { filterBy } from '../router.ts';
import { ask } from '../session/session.ts';
import { count } from '../text.ts';

const STATUSES = ['running', 'waiting', 'failed', 'idle', 'stopped', 'terminated'] as const;
const SORTS: Readonly<Record<string, string>> = {
  '': 'last changed',
  created: 'newest',
  cost: 'cost',
  tokens: 'tokens',
  waiting: 'longest waiting',
};
const DAY_MICROS = 86_400_000_000;
/** By days. */
const PERIODS: Readonly<Record<string, string>> = {
  '': 'any time',
  '1': 'last day',
  '7': 'last week',
  '30': 'last month',
};

/** The filters as a query of routes: `changed` counts days back from now, whenever the address is opened. */
export function toQuery({ changed, ...others }: Filters): object {
  const days = Number(changed);
  return days > 0 ? { ...others, updatedAfter: Date.now() * 1000 - days * DAY_MICROS } : others;
}
const TEXTS = [
  ['userId', 'User'],
  ['organizationId', 'Organisation'],
  ['tag', 'Tag'],
] as const;

export function FilterBar({ filters, version }: { readonly filters: Filters; readonly version: number }) {
  const { status: _status, agent: _agent, sort: _sort, ...others } = filters;
  const { value: counts } = useLoad(
    () => ask('GET /v1/threads/counts', {}, { query: { rootsOnly: true, ...toQuery(others) } }),
    [JSON.stringify(others), version],
  );
  const set = (name: (typeof FILTERS)[number], value: string) => {
    const { [name]: _before, ...rest } = filters;
    filterBy(value === '' ? rest : { ...rest, [name]: value });
  };
  const agents = [
    ...new Set([...Object.keys(counts?.agent ?? {}), ...(filters.agent ? [filters.agent] : [])]),
  ];
  return (
    <search class="filters" aria-label="Filters">
      <div class="row statuses">
        <StatusButton name="" label="all" n={counts?.total} filters={filters} set={set} />
        {STATUSES.map((name) => (
          <StatusButton
            key={name}
            name={name}
            label={name}
            n={counts?.status[name]}
            filters={filters}
            set={set}
          />
        ))}
      </div>
      <details open={!matchMedia('(max-width: 860px)').matches || isFiltered(others)}>
        <summary>Filters and order</summary>
        <div class="row">
          <label>
            <span class="faint">Agent</span>
            <input
              id="search"
              list="agents"
              value={filters.agent ?? ''}
              placeholder="any ( / )"
              onChange={({ currentTarget }) => set('agent', currentTarget.value.trim())}
            />
            <datalist id="agents">
              {agents.map((each) => (
                <option key={each} value={each}>
                  {counts?.agent[each]}
                </option>
              ))}
            </datalist>
          </label>
          {TEXTS.map(([name, label]) => (
            <label key={name}>
              <span class="faint">{label}</span>
              <input
                value={filters[name] ?? ''}
                placeholder="any"
                onChange={({ currentTarget }) => set(name, currentTarget.value.trim())}
              />
            </label>
          ))}
          <label>
            <span class="faint">Changed</span>
            <select
              name="changed"
              value={filters.changed ?? ''}
              onChange={({ currentTarget }) => set('changed', currentTarget.value)}
            >
              {Object.entries(PERIODS).map(([days, label]) => (
                <option key={days} value={days}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span class="faint">Order</span>
            <select
              name="sort"
              value={filters.sort ?? ''}
              onChange={({ currentTarget }) => set('sort', currentTarget.value)}
            >
              {Object.entries(SORTS).map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
      </details>
    </search>
  );
}

/** True if the list is narrowed by more than a status and an agent. */
const isFiltered = (filters: Filters): boolean => Object.keys(filters).length > 0;

interface StatusProps {
  readonly name: string;
  readonly label: string;
  readonly n: number | undefined;
  readonly filters: Filters;
  readonly set: (name: 'status', value: string) => void;
}

function StatusButton({ name, label, n, filters, set }: StatusProps) {
  return (
    <button
      type="button"
      class="tab"
      aria-pressed={(filters.status ?? '') === name}
      onClick={() => set('status', name)}
    >
      {label} {n !== undefined && <span class="faint number">{count(n)}</span>}
    </button>
  );
}
