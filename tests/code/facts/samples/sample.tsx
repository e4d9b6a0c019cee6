import React, { useState } from 'react';

export interface Props {
  title: string;
  onClose?: () => void;
}

export const Panel: React.FC<Props> = ({ title, onClose }) => {
  const [open, setOpen] = useState(true);
  function toggle() {
    setOpen(!open);
  }
  return (
    <section className="panel" onClick={toggle}>
      some text {title}
      <Button label={title} onPress={onClose} />
    </section>
  );
};

export default class Page extends React.Component<Props> {
  state = { ready: false };
  render() {
    return <Panel {...this.props} title="page" />;
  }
}
