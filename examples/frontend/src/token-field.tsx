// Where the caller's token goes in: remembered for this tab only.
import { useSession } from './session.tsx';

export function TokenField() {
  const { token, setToken } = useSession();
  return (
    <div className="field">
      <label>
        <span>Your token for the folding service (the sandbox takes any word)</span>
        <input
          type="password"
          autoComplete="off"
          defaultValue={token}
          onBlur={({ target }) => target.value !== token && setToken(target.value)}
          onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
        />
      </label>
    </div>
  );
}
