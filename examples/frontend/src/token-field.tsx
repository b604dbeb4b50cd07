// Where the caller's token goes in: remembered for this tab only.
import { useService } from './service.tsx';
import { useSession } from './session.tsx';

export function TokenField() {
  const { token, setToken } = useSession();
  const isSandbox = useService()?.service?.isSandbox === true;
  return (
    <div className="field">
      <label>
        <span>Your token for the folding service{isSandbox && ' (the sandbox takes any word)'}</span>
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
